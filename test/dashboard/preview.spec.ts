import { CHROMIUM, describeWith } from '../support/requirements.js';
import { startDashboard } from './support/dashboard.js';
import type { Dashboard } from './support/dashboard.js';
import { createTestProject } from './support/objects.js';
import { PAYLOADS } from './support/payloads.js';

describeWith(CHROMIUM, 'the preview of markdown', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard();
  });
  afterAll(() => dashboard.close());

  it(`executes nothing of ${PAYLOADS.length} payloads, and follows no dangerous link`, async () => {
    expect(PAYLOADS.length).toBeGreaterThan(60);
    const { page, agent, problems } = await dashboard.signedIn('payloads');
    const project = await createTestProject(agent, 'Payloads');
    // Apart from each other, so that an open element of one payload does not contain the next.
    for (const [index, payload] of PAYLOADS.entries()) {
      const id = await project.write(`p-${index}`, `Payload ${index}`, `${payload}\n\nrendered\n`);
      await page.goto(`${dashboard.url}${project.pathOf(id)}?view=preview`);
      await page.locator('.markdown').getByText('rendered').first().waitFor();
      for (const link of await page.locator('.markdown :is(a, button, .inert-link)').all())
        await link.dispatchEvent('click');
      expect(await page.evaluate('[window.executed, location.origin]')).toEqual([undefined, dashboard.url]);
      const targets = await page
        .locator('.markdown :is([href], [src], [action])')
        .evaluateAll((elements) =>
          elements.map((element) => element.getAttribute('href') ?? element.getAttribute('src')),
        );
      expect(targets.filter((target) => !/^(https?:|#|mailto:)/.test(target ?? 'none'))).toEqual([]);
      expect(
        await page
          .locator(
            '.markdown :is(script, iframe, object, embed, style, form, svg:not(.tabler-icon), base, meta)',
          )
          .count(),
      ).toBe(0);
    }
    expect(problems).toEqual([]);
  }, 1_200_000); // one page after the other

  it('loads images of other sites after a click only', async () => {
    const { page, agent } = await dashboard.signedIn('images');
    const project = await createTestProject(agent, 'Images');
    const id = await project.write('a', 'A', '![logo](https://img.example.com/logo.png)');
    const requested: string[] = [];
    await page.route('https://img.example.com/**', (route) => {
      requested.push(route.request().url());
      return route.fulfill({ status: 200, contentType: 'image/png', body: '' });
    });
    await page.goto(`${dashboard.url}${project.pathOf(id)}?view=preview`);
    const button = page.getByRole('button', { name: 'Load image “logo” from img.example.com' });
    await button.waitFor();
    await page.waitForLoadState('networkidle');
    expect(requested).toEqual([]);
    const request = page.waitForRequest('https://img.example.com/logo.png');
    await button.press('Enter');
    await request;
  });

  it('loads images over HTTP if it is served over HTTP itself', async () => {
    const { page, agent, problems } = await dashboard.signedIn('http-images');
    const project = await createTestProject(agent, 'Images');
    const id = await project.write('a', 'A', '![logo](http://img.example.com/logo.png)');
    await page.route('http://img.example.com/**', (route) =>
      route.fulfill({ status: 200, contentType: 'image/png', body: '' }),
    );
    await page.goto(`${dashboard.url}${project.pathOf(id)}?view=preview`);
    const request = page.waitForRequest('http://img.example.com/logo.png');
    await page.getByRole('button', { name: 'Load image “logo” from img.example.com' }).click();
    await request;
    expect(problems).toEqual([]);
  });

  it('opens links of other sites without access to this page', async () => {
    const { page, agent } = await dashboard.signedIn('links');
    const project = await createTestProject(agent, 'Links');
    const id = await project.write('a', 'A', '[out](https://example.com/)');
    await page.goto(`${dashboard.url}${project.pathOf(id)}?view=preview`);
    const link = page.getByRole('link', { name: 'out' });
    expect(await link.getAttribute('rel')).toContain('noopener');
    expect(await link.getAttribute('target')).toBe('_blank');
  });
});
