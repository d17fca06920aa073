import { memo } from 'react';
import type { ComponentProps, ReactNode } from 'react';
import Markdown from 'react-markdown';
import type { Components } from 'react-markdown';
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { ExternalImage } from './external-image';
import { isSafeLink } from './safe-link';
import { remarkWikilinks, WIKILINK_PREFIX } from './remark-wikilinks';

interface Props {
  readonly markdown: string;
  /** Shows a wikilink. */
  readonly renderWikilink: (target: string, children: ReactNode) => ReactNode;
}

const REMARK = [remarkGfm, remarkWikilinks];
/** HTML of the markdown is shown as text. The sanitizer is a second line of defence. */
const REHYPE = [[rehypeSanitize, defaultSchema]] satisfies ComponentProps<typeof Markdown>['rehypePlugins'];

/** Rendered markdown. Nothing in it is executed, and nothing is loaded from other sites without a click. */
export const Preview = memo(function Preview({ markdown, renderWikilink }: Props): ReactNode {
  const components: Components = {
    a: ({ href, children }) => {
      if (href?.startsWith(WIKILINK_PREFIX)) return renderWikilink(decodeTarget(href), children);
      return <PreviewLink href={href}>{children}</PreviewLink>;
    },
    img: ({ src, alt }) => <ExternalImage src={src} alt={alt} />,
    input: ({ checked }) => <input type="checkbox" checked={checked ?? false} disabled aria-label="Task" />,
  };
  return (
    <div className="markdown">
      <Markdown remarkPlugins={REMARK} rehypePlugins={REHYPE} components={components}>
        {markdown}
      </Markdown>
    </div>
  );
});

function PreviewLink({ href, children }: { href: string | undefined; children: ReactNode }): ReactNode {
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
