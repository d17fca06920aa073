import { ApiError } from '../api/errors';
import type { PlannedDocument } from './plan';
import { upload } from './upload';

const documents = Array.from({ length: 12 }, (_, index): PlannedDocument => ({
  path: `${index}.md`,
  title: `${index}`,
  slug: `d-${index}`,
  content: '',
}));
const never = new AbortController().signal;

it('stores all documents, a few at a time, and tells its progress', async () => {
  let running = 0;
  let most = 0;
  const progress: number[] = [];
  const store = async () => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
  };
  const result = await upload(documents, store, never, ({ done }) => progress.push(done));
  expect(result).toEqual({ done: 12, total: 12, failed: [], isCancelled: false });
  expect(most).toBe(4);
  expect(progress.at(-1)).toBe(12);
});

it('goes on after a document that fails', async () => {
  const store = ({ slug }: PlannedDocument) =>
    slug === 'd-3'
      ? Promise.reject(new ApiError(409, 'slug_taken', 'slug is taken', 'r-1'))
      : Promise.resolve();
  const { done, failed } = await upload(documents, store, never, () => undefined);
  const reason = 'Slug is taken. Change the value and try again. (request r-1)';
  expect([done, failed]).toEqual([11, [{ path: '3.md', reason }]]);
});

it('completes what it has begun when it is cancelled', async () => {
  const controller = new AbortController();
  const stored: string[] = [];
  const store = async ({ slug }: PlannedDocument) => {
    controller.abort();
    await Promise.resolve();
    stored.push(slug);
  };
  const result = await upload(documents, store, controller.signal, () => undefined);
  expect(result).toMatchObject({ done: stored.length, isCancelled: true });
  expect(stored.length).toBeLessThanOrEqual(4);
});

it('ends when the session has expired', async () => {
  const store = () => Promise.reject(new ApiError(401, undefined, 'sign in', null));
  const { done, failed } = await upload(documents, store, never, () => undefined);
  expect(done).toBe(0);
  expect(failed.length).toBeLessThanOrEqual(4);
});
