import type { Page } from 'playwright-core';
import { startDashboard } from './dashboard.js';
import type { Dashboard, Person } from './dashboard.js';
import { createTestProject } from './objects.js';
import type { TestProject } from './objects.js';

/** Person in front of a document with the title `Plan` and the text `one`. */
export interface OwnDocument {
  readonly dashboard: Dashboard;
  readonly person: Person;
  readonly page: Page;
  readonly project: TestProject;
  readonly id: number;
}

/**
 * Gives each test of the block a person with a document of their own. Scripts that fail in the person's window fail the
 * test.
 * @param prefix begins the names of the people
 * @param onStart called before each test
 */
export function useDocument(prefix: string, onStart: (document: OwnDocument) => void): void {
  let dashboard: Dashboard;
  let person: Person;
  let people = 0;
  beforeAll(async () => {
    dashboard = await startDashboard();
  });
  afterAll(() => dashboard.close());
  beforeEach(async () => {
    person = await dashboard.signedIn(`${prefix}-${++people}`);
    const project = await createTestProject(person.agent, 'Notes');
    const id = await project.write('a', 'Plan', 'one');
    onStart({ dashboard, person, page: person.page, project, id });
  });
  afterEach(async () => {
    expect(person.problems).toEqual([]);
    await person.context.close();
  });
}
