import { GFM, parser } from '@lezer/markdown';

/** Parser of the markdown that documents use: CommonMark and the extensions of GitHub. */
export const markdownParser = parser.configure(GFM);
