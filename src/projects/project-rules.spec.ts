import { assertDescriptionsBounded } from './project-rules.js';
import { DESCRIPTIONS_BYTES, DescriptionsTooLong } from './projects.errors.js';

describe('assertDescriptionsBounded', () => {
  it.each([
    ['up to the limit', DESCRIPTIONS_BYTES, 0],
    ['above the limit but shorter than before', DESCRIPTIONS_BYTES + 1, DESCRIPTIONS_BYTES + 2],
    ['above the limit but as long as before', DESCRIPTIONS_BYTES + 1, DESCRIPTIONS_BYTES + 1],
  ])('accepts descriptions %s', (_, bytes, bytesBefore) => assertDescriptionsBounded(bytes, bytesBefore));

  it.each([
    ['above the limit', DESCRIPTIONS_BYTES + 1, 0],
    ['above the limit and longer than before', DESCRIPTIONS_BYTES + 2, DESCRIPTIONS_BYTES + 1],
  ])('rejects descriptions %s', (_, bytes, bytesBefore) => {
    expect(() => assertDescriptionsBounded(bytes, bytesBefore)).toThrow(DescriptionsTooLong);
  });
});
