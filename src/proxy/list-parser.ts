import { setImmediate as nextTurn } from 'node:timers/promises';
import { modelsIn } from './models.js';
import type { ListedModel } from './models.js';

/** Reads one list in a turn of the event loop: others have theirs between two. */
export class ListParser {
  private last: Promise<unknown> = Promise.resolve();

  /** @param take gives the text, if it is still wanted */
  parse(take: () => Buffer | undefined): Promise<ListedModel[] | undefined> {
    const parsing = this.last
      .then(() => nextTurn())
      .then(() => {
        const text = take();
        return text && modelsIn(text);
      });
    this.last = parsing;
    return parsing;
  }
}
