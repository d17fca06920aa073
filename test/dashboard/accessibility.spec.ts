import type { Page } from 'playwright-core';
import { CHROMIUM, describeWith } from '../support/requirements.js';
import { seriousViolations, sidewaysScroll } from './support/accessibility.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard } from './support/dashboard.js';
import { createTestProject } from './support/objects.js';

/** Part of a document that fills more than a window, with lines that do not fit. */
const section = `## Section\n\n*emphasis* and \`code\`\n\n- one\n- **two**\n\n\`\`\`ts\n${'const x = 1; '.repeat(30)}\n\`\`\`\n\n| ${'column | '.repeat(20)}\n|${' --- |'.repeat(20)}\n| ${'a long value | '.repeat(20)}\n\n`;

describeWith(CHROMIUM, 'accessibility of the dashboard', () => {
  let dashboard: Dashboard;
  let page: Page;
  let paths: Record<string, string>;
  beforeAll(async () => {
    dashboard = await startDashboard();
    const person = await dashboard.signedIn('axe');
    page = person.page;
    const { body: team } = await person.agent
      .post('/me/organizations')
      .send({ name: 'Acme', slug: 'acme-axe' });
    const project = await createTestProject(person.agent, 'Handbook', team.id);
    const document = await project.write(
      'home',
      'Home with a long title that does not fit into one line of a phone',
      '# Home\n\n[[gone]] [link](https://example.com) ![x](https://example.com/a.png)\n\n- [ ] task\n\n`code`\n',
    );
    const long = await project.write('long', 'Long', section.repeat(100));
    const empty = await createTestProject(person.agent, 'Empty', team.id);
    paths = {
      projects: `/o/${team.id}/projects`,
      'no documents': empty.path,
      documents: project.path,
      document: project.pathOf(document),
      preview: `${project.pathOf(document)}?view=preview`,
      'long document': project.pathOf(long),
      'preview of a long document': `${project.pathOf(long)}?view=preview`,
      keys: `/o/${team.id}/keys`,
      upstreams: `/o/${team.id}/upstreams`,
      usage: `/o/${team.id}/usage`,
      settings: `/o/${team.id}/settings`,
      limits: `/o/${team.id}/settings/limits`,
      prices: `/o/${team.id}/settings/prices`,
      'unknown page': `/o/${team.id}/nothing`,
    };
  });
  afterAll(() => dashboard.close());

  it.each([
    ...[
      'projects',
      'no documents',
      'documents',
      'document',
      'preview',
      'keys',
      'upstreams',
      'usage',
      'settings',
    ],
    ...['long document', 'preview of a long document', 'limits', 'prices', 'unknown page'],
  ])('has no serious violation, and fits a phone: %s', async (name) => {
    await page.setViewportSize({ width: 1_280, height: 800 });
    await page.goto(dashboard.url + paths[name]!);
    await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
    await page.waitForLoadState('networkidle');
    expect(await seriousViolations(page)).toEqual([]);
    expect(await sidewaysScroll(page)).toBe(0);
  });

  it('has no serious violation on the sign-in page', async () => {
    const { page: other } = await dashboard.open();
    await other.goto(dashboard.url);
    await other.getByLabel('E-mail address').waitFor();
    expect(await seriousViolations(other)).toEqual([]);
    expect(await sidewaysScroll(other)).toBe(0);
  });

  it('reaches a project with the keyboard alone, with a visible focus', async () => {
    await page.setViewportSize({ width: 1_280, height: 800 });
    await page.goto(dashboard.url + paths.projects!);
    await page.getByRole('link', { name: /Handbook/ }).waitFor();
    const focused = () => page.evaluate<string>("document.activeElement.closest('a')?.textContent ?? ''");
    for (let presses = 0; presses < 40 && !(await focused()).includes('Handbook'); presses++)
      await page.keyboard.press('Tab');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).not.toBe('none');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Handbook' }).waitFor();
  });
});
