import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Runs axe when the theme is painted. The animation of an element that is removed ends with an error. */
const AXE =
  'new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))' +
  '.then(() => Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => 0))))' +
  '.then(() => axe.run()).then(({ violations }) => violations)';

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly target: unknown; readonly failureSummary: string }[];
}

/** Lists violations that axe calls serious or critical, in both themes. */
export async function seriousViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // The pages without scripts follow the browser alone.
    await page
      .locator(`html[data-mantine-color-scheme=${colorScheme}], html:not([data-mantine-color-scheme])`)
      .waitFor();
    const violations = await page.evaluate<Violation[]>(AXE);
    for (const { id, impact, nodes } of violations)
      if (impact === 'serious' || impact === 'critical')
        found.push(
          ...nodes.map((node) => `${colorScheme} ${id} ${String(node.target)}: ${node.failureSummary}`),
        );
  }
  return found;
}

/** Pixels by which the page is wider than a phone. */
export async function sidewaysScroll(page: Page): Promise<number> {
  await page.setViewportSize({ width: 390, height: 844 });
  return page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
