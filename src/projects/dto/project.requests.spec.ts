import { violationsOf } from '../../../test/support/violations.js';
import { CreateProjectDto, UpdateProjectDto } from './project.requests.js';

const MAX_CODE_POINTS = 255;

it.each(['A', ' A ', '😀'.repeat(MAX_CODE_POINTS)])('accepts the name %j', (name) => {
  expect(violationsOf(CreateProjectDto, { name })).toEqual([]);
});

it.each(['', ' ', 'A'.repeat(MAX_CODE_POINTS + 1), 'a\0b', '\uDFFF', 1, {}, undefined])(
  'rejects the name %j',
  (name) => expect(violationsOf(CreateProjectDto, { name })).toEqual(['invalid_name']),
);

it.each(['', ' kept as it is ', 'ä\n'])('accepts the description %j', (description) => {
  expect(violationsOf(UpdateProjectDto, { description })).toEqual([]);
});

it.each(['a\0b', '\uD800', 1, {}])('rejects the description %j', (description) => {
  expect(violationsOf(UpdateProjectDto, { description })).toEqual([undefined]);
});

it.each([{}, { name: undefined }, { description: undefined }])('an update accepts %j', (body) => {
  expect(violationsOf(UpdateProjectDto, body)).toEqual([]);
});
