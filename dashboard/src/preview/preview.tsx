import { createContext, memo, useContext, useDeferredValue, useMemo } from 'react';
import type { ComponentProps, ReactNode } from 'react';
import Markdown from 'react-markdown';
import type { Components } from 'react-markdown';
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { ExternalImage } from './external-image';
import { isSafeLink } from './safe-link';
import { remarkWikilinks, WIKILINK_PREFIX } from './remark-wikilinks';
import { splitMarkdown } from './split-markdown';

type RenderWikilink = (target: string, children: ReactNode) => ReactNode;

interface Props {
  readonly markdown: string;
  /** Shows a wikilink. */
  readonly renderWikilink: RenderWikilink;
}

const REMARK = [remarkGfm, remarkWikilinks];
/** HTML of the markdown is shown as text. The sanitizer is a second line of defence. */
const REHYPE = [[rehypeSanitize, defaultSchema]] satisfies ComponentProps<typeof Markdown>['rehypePlugins'];

const WikilinkContext = createContext<RenderWikilink>((_target, children) => children);

/** Components keep their identity, so that a changed text does not reset what is shown already. */
const COMPONENTS: Components = {
  a: ({ href, children }) => <PreviewLink href={href}>{children}</PreviewLink>,
  img: ({ src, alt }) => <ExternalImage src={src} alt={alt} />,
  input: ({ checked }) => <input type="checkbox" checked={checked ?? false} disabled aria-label="Task" />,
  // Wide code and tables scroll, which has to work with the keyboard.
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  table: ({ children }) => (
    <div className="wide-table" tabIndex={0} role="region" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
};

/**
 * Rendered markdown. Nothing in it is executed, and nothing is loaded from other sites without a click. It is rendered
 * after everything else on the page, and a key press interrupts it.
 */
export const Preview = memo(function Preview({ markdown, renderWikilink }: Props): ReactNode {
  const shown = useDeferredValue(markdown, '');
  const parts = useMemo(() => splitMarkdown(shown), [shown]);
  return (
    <WikilinkContext value={renderWikilink}>
      <div className="markdown">
        {parts.map((part, index) => (
          // A part has no identity but its place. One that moves is rendered again.
          <Part key={index} markdown={part} />
        ))}
      </div>
    </WikilinkContext>
  );
});

const Part = memo(function Part({ markdown }: { markdown: string }): ReactNode {
  return (
    <Markdown remarkPlugins={REMARK} rehypePlugins={REHYPE} components={COMPONENTS}>
      {markdown}
    </Markdown>
  );
});

function PreviewLink({ href, children }: { href: string | undefined; children: ReactNode }): ReactNode {
  const renderWikilink = useContext(WikilinkContext);
  if (href?.startsWith(WIKILINK_PREFIX)) return renderWikilink(decodeTarget(href), children);
  if (!isSafeLink(href)) return <span className="inert-link">{children}</span>;
  const isOutside = !href!.startsWith('#');
  return (
    <a href={href} {...(isOutside && { target: '_blank', rel: 'noopener noreferrer nofollow' })}>
      {children}
    </a>
  );
}

function decodeTarget(href: string): string {
  try {
    return decodeURIComponent(href.slice(WIKILINK_PREFIX.length));
  } catch {
    return '';
  }
}
