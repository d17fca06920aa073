const MARK = /\[skipped: (.+)\]$/;

/** Ends a run with one line that names the tests skipped for something the machine lacks. */
export default class SkippedReporter {
  onRunComplete(_contexts, { testResults }) {
    const titles = testResults.flatMap(({ testResults: tests }) =>
      tests.filter(({ status }) => status === 'pending').flatMap(({ ancestorTitles }) => ancestorTitles),
    );
    const reasons = new Set(titles.flatMap((title) => MARK.exec(title)?.[1] ?? []));
    if (reasons.size === 0) return;
    // Jest writes its summary and the coverage after this method.
    process.once('exit', () => process.stderr.write(`skipped: ${[...reasons].join(', ')}\n`));
  }
}
