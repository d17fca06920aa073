import { jest } from '@jest/globals';
import { ApiError, UnreachableError } from '../api/errors';
import type { Draft } from './draft-store';
import type { Change, Version } from './save-state';
import { AUTOSAVE_MS, DocumentSaver, RETRY_MS } from './saver';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const rejection = (status: number) => new ApiError(status, undefined, 'rejected', 'r1');

/** Service with one document, whose next responses can be errors. */
class FakeService {
  version = 1;
  content = 'base';
  title = 'Title';
  saves = 0;
  draft: Draft | undefined;
  readonly errors: Error[] = [];
  readonly saver = new DocumentSaver(this.current(), {
    load: () => Promise.resolve(this.current()),
    save: (change, etag) => this.save(change, etag),
    storeDraft: (draft) => void (this.draft = draft),
  });

  current(): Version {
    return { content: this.content, title: this.title, etag: `"${this.version}"` };
  }

  write(content: string): void {
    this.content = content;
    this.version++;
  }

  private save({ content = this.content, title = this.title }: Change, etag: string): Promise<Version> {
    this.saves++;
    const error = this.errors.shift();
    if (error) return Promise.reject(error);
    if (etag !== this.current().etag) return Promise.reject(rejection(412));
    this.write(content);
    this.title = title;
    return Promise.resolve(this.current());
  }

  get status() {
    return this.saver.snapshot().status;
  }
}

it('saves once, a moment after the last change, and keeps a draft until then', async () => {
  const service = new FakeService();
  service.saver.edit('b');
  await jest.advanceTimersByTimeAsync(AUTOSAVE_MS - 1);
  service.saver.edit('bc');
  expect(service.draft).toEqual({ content: 'bc', baseContent: 'base', baseEtag: '"1"' });
  await jest.advanceTimersByTimeAsync(AUTOSAVE_MS - 1);
  expect([service.saves, service.status]).toEqual([0, 'unsaved']);
  await jest.advanceTimersByTimeAsync(1);
  expect([service.saves, service.content, service.status]).toEqual([1, 'bc', 'saved']);
  expect(service.draft).toBeUndefined();
});

it('saves text that was typed while another save was running', async () => {
  const service = new FakeService();
  service.saver.edit('first');
  const saving = service.saver.saveNow();
  service.saver.edit('second');
  await saving;
  expect(service.status).toBe('unsaved');
  expect(service.draft).toMatchObject({ content: 'second', baseContent: 'first', baseEtag: '"2"' });
  await jest.advanceTimersByTimeAsync(AUTOSAVE_MS);
  expect([service.content, service.status]).toEqual(['second', 'saved']);
});

it('tries again until the service is back', async () => {
  const service = new FakeService();
  service.errors.push(new UnreachableError(), rejection(503));
  service.saver.edit('b');
  await service.saver.saveNow();
  expect(service.status).toBe('unreachable');
  await jest.advanceTimersByTimeAsync(RETRY_MS);
  expect(service.status).toBe('unreachable');
  await jest.advanceTimersByTimeAsync(RETRY_MS);
  expect([service.content, service.status]).toEqual(['b', 'saved']);
});

it('waits for a new session, and keeps the draft', async () => {
  const service = new FakeService();
  service.errors.push(rejection(401));
  service.saver.edit('b');
  await service.saver.saveNow();
  expect([service.status, service.draft?.content]).toEqual(['waiting', 'b']);
  await service.saver.saveNow();
  expect([service.content, service.status]).toEqual(['b', 'saved']);
});

it('keeps text that the service rejects', async () => {
  const service = new FakeService();
  service.errors.push(rejection(400));
  service.saver.edit('b');
  await service.saver.saveNow();
  await jest.advanceTimersByTimeAsync(RETRY_MS);
  expect([service.saves, service.status, service.draft?.content]).toEqual([1, 'rejected', 'b']);
});

it('requests a merge if both texts have changed, and saves the merged one', async () => {
  const service = new FakeService();
  service.saver.edit('own');
  service.write('theirs');
  await service.saver.saveNow();
  const { status, server } = service.saver.snapshot();
  expect([status, server?.content, service.draft?.content]).toEqual(['conflict', 'theirs', 'own']);
  await jest.advanceTimersByTimeAsync(AUTOSAVE_MS + RETRY_MS);
  expect(service.content).toBe('theirs');
  await service.saver.finishMerge('both', server!);
  expect([service.content, service.status]).toEqual(['both', 'saved']);
});

it('requests another merge if the text changes during the merge', async () => {
  const service = new FakeService();
  service.saver.edit('own');
  service.write('theirs');
  await service.saver.saveNow();
  service.write('theirs again');
  await service.saver.finishMerge('both', service.saver.snapshot().server!);
  expect(service.saver.snapshot()).toMatchObject({ status: 'conflict', server: { content: 'theirs again' } });
  expect(service.draft?.content).toBe('both');
});

it('saves without a merge if only the title has changed on the service', async () => {
  const service = new FakeService();
  service.saver.edit('own');
  service.version++;
  await service.saver.saveNow();
  expect([service.content, service.status]).toEqual(['own', 'saved']);
});

it('continues a draft, or starts a merge, or drops it if the service has it', async () => {
  const draft = { content: 'draft', baseContent: 'base', baseEtag: '"0"' };
  const service = new FakeService();
  service.saver.resume(draft);
  await jest.advanceTimersByTimeAsync(AUTOSAVE_MS);
  expect(service.content).toBe('draft');

  const other = new FakeService();
  other.saver.resume({ ...draft, baseContent: 'older' });
  expect(other.status).toBe('conflict');

  const same = new FakeService();
  same.saver.resume({ ...draft, content: 'base', baseContent: 'older' });
  expect([same.status, same.draft]).toEqual(['saved', undefined]);
});

it('saves without a merge after the response to a save was lost', async () => {
  const service = new FakeService();
  service.errors.push(new UnreachableError());
  service.saver.edit('first');
  await service.saver.saveNow();
  service.write('first'); // the request arrived
  service.saver.edit('second');
  await service.saver.saveNow();
  expect([service.content, service.status]).toEqual(['second', 'saved']);
});

it('keeps the text of another person if the own text returned to the base during a save', async () => {
  const service = new FakeService();
  service.saver.edit('b');
  service.write('theirs');
  const saving = service.saver.saveNow();
  service.saver.edit('base');
  await saving;
  await jest.advanceTimersByTimeAsync(AUTOSAVE_MS + RETRY_MS);
  expect([service.content, service.saver.content, service.status]).toEqual(['theirs', 'theirs', 'saved']);
  expect([service.saver.replacements, service.draft]).toEqual([1, undefined]);
});

it('saves the base again if the service stored a text whose response was lost', async () => {
  const service = new FakeService();
  service.errors.push(new UnreachableError());
  service.saver.edit('first');
  await service.saver.saveNow();
  service.write('first'); // the request arrived
  service.saver.edit('base');
  await service.saver.saveNow();
  expect([service.content, service.status, service.draft]).toEqual(['base', 'saved', undefined]);
});

it('saves nothing if the text returned to the base, and its request did not arrive', async () => {
  const service = new FakeService();
  service.errors.push(new UnreachableError());
  service.saver.edit('first');
  await service.saver.saveNow();
  service.saver.edit('base');
  await service.saver.saveNow();
  expect([service.saves, service.status, service.draft]).toEqual([1, 'saved', undefined]);
});

it('waits between attempts if the service rejects each version', async () => {
  const service = new FakeService();
  service.errors.push(rejection(412), rejection(412));
  service.saver.edit('b');
  await service.saver.saveNow();
  expect([service.saves, service.status]).toEqual([2, 'unreachable']);
  await jest.advanceTimersByTimeAsync(RETRY_MS);
  expect([service.saves, service.content, service.status]).toEqual([3, 'b', 'saved']);
});

it('keeps the base of a draft during the merge, so that a reload requests another merge', () => {
  const draft = { content: 'draft', baseContent: 'older', baseEtag: '"0"' };
  const service = new FakeService();
  service.saver.resume(draft);
  expect(service.draft).toEqual(draft);
  service.saver.edit('draft, edited');
  expect(service.draft).toEqual({ ...draft, content: 'draft, edited' });
});

it('shows a further draft for a merge even if the service has its base', () => {
  const service = new FakeService();
  service.saver.review({ content: 'draft', baseContent: 'base', baseEtag: '"1"' });
  expect([service.status, service.saver.content]).toEqual(['conflict', 'draft']);
});

it.each([408, 429])('tries again after status %d', async (status) => {
  const service = new FakeService();
  service.errors.push(rejection(status));
  service.saver.edit('b');
  await service.saver.saveNow();
  expect(service.status).toBe('unreachable');
  await jest.advanceTimersByTimeAsync(RETRY_MS);
  expect(service.content).toBe('b');
});

it('explains a rejection until a save succeeds', async () => {
  const service = new FakeService();
  service.errors.push(rejection(404));
  service.saver.edit('b');
  await service.saver.saveNow();
  service.saver.edit('bc');
  expect(service.saver.snapshot()).toMatchObject({ status: 'unsaved', error: { status: 404 } });
  await service.saver.saveNow();
  expect(service.saver.snapshot()).toEqual({ status: 'saved' });
});

it('drops the draft of a text that the person gives up', async () => {
  const service = new FakeService();
  service.saver.edit('b');
  service.saver.discard();
  await jest.advanceTimersByTimeAsync(AUTOSAVE_MS);
  expect([service.saves, service.status, service.draft]).toEqual([0, 'saved', undefined]);
});

it('changes other members between two saves', async () => {
  const service = new FakeService();
  service.saver.edit('own');
  await service.saver.exclusively((etag) => {
    expect(etag).toBe('"1"');
    service.version++;
    return Promise.resolve(service.current());
  });
  await service.saver.saveNow();
  expect([service.content, service.saves, service.status]).toEqual(['own', 1, 'saved']);
});

it('saves a title a moment after the last change, and keeps it in the draft until then', async () => {
  const service = new FakeService();
  service.saver.editTitle(' New ');
  expect([service.saver.title, service.status]).toEqual(['New', 'unsaved']);
  expect(service.draft).toMatchObject({ content: 'base', newTitle: 'New' });
  await jest.advanceTimersByTimeAsync(AUTOSAVE_MS);
  expect([service.title, service.content, service.saves]).toEqual(['New', 'base', 1]);
  expect([service.status, service.draft]).toEqual(['saved', undefined]);
});

it('saves text and title in one request', async () => {
  const service = new FakeService();
  service.saver.edit('text');
  service.saver.editTitle('New');
  await service.saver.saveNow();
  expect([service.title, service.content, service.saves]).toEqual(['New', 'text', 1]);
});

it.each([
  ['is away', new UnreachableError()],
  ['fails', rejection(503)],
])('keeps a title while the service %s', async (_, error) => {
  const service = new FakeService();
  service.errors.push(error);
  service.saver.editTitle('New');
  await service.saver.saveNow();
  expect([service.status, service.saver.title, service.draft?.newTitle]).toEqual([
    'unreachable',
    'New',
    'New',
  ]);
  await jest.advanceTimersByTimeAsync(RETRY_MS);
  expect([service.title, service.status, service.draft]).toEqual(['New', 'saved', undefined]);
});

it('continues a title of a draft', async () => {
  const service = new FakeService();
  service.saver.resume({ content: 'base', baseContent: 'base', baseEtag: '"1"', newTitle: 'New' });
  expect(service.saver.title).toBe('New');
  await service.saver.saveNow();
  expect([service.title, service.content, service.draft]).toEqual(['New', 'base', undefined]);
});

it('takes the text of another person when only the title was changed here', async () => {
  const service = new FakeService();
  service.saver.editTitle('New');
  service.write('theirs');
  await service.saver.saveNow();
  expect([service.title, service.content, service.saver.content]).toEqual(['New', 'theirs', 'theirs']);
  expect([service.saver.replacements, service.status]).toEqual([1, 'saved']);
});

it('saves the old title again if it returns while the new one is saved', async () => {
  const service = new FakeService();
  service.saver.editTitle('New');
  const saving = service.saver.saveNow();
  service.saver.editTitle('Title');
  await saving;
  await jest.advanceTimersByTimeAsync(AUTOSAVE_MS);
  expect([service.title, service.saver.title, service.status]).toEqual(['Title', 'Title', 'saved']);
});

it('does not save an empty title', async () => {
  const service = new FakeService();
  service.saver.editTitle('  ');
  await service.saver.saveNow();
  expect([service.saves, service.saver.title, service.status]).toEqual([0, 'Title', 'saved']);
});
