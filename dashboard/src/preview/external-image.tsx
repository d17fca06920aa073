import { Button } from '@mantine/core';
import { IconPhoto } from '@tabler/icons-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { imageHost, isLoadable } from './safe-link';

interface Props {
  readonly src: string | undefined;
  readonly alt: string | undefined;
}

/**
 * Image of another site. It is loaded after a click only, because its site learns who reads the document. An image that
 * the page cannot load is a link.
 */
export function ExternalImage({ src, alt = '' }: Props): ReactNode {
  const [isShown, setShown] = useState(false);
  const host = imageHost(src);
  if (host === undefined) return <span className="inert-link">{alt || 'image'}</span>;
  if (!isLoadable(src!, window.location.protocol))
    return (
      <a href={src} target="_blank" rel="noopener noreferrer nofollow">
        {`Open image ${alt && `“${alt}” `}from ${host}`}
      </a>
    );
  if (isShown) return <img src={src} alt={alt} referrerPolicy="no-referrer" />;
  return (
    <Button
      component="span"
      role="button"
      tabIndex={0}
      variant="default"
      size="compact-sm"
      maw="100%"
      leftSection={<IconPhoto size={14} aria-hidden />}
      onClick={() => setShown(true)}
      onKeyDown={(event) => (event.key === 'Enter' || event.key === ' ') && setShown(true)}
    >
      {`Load image ${alt && `“${alt}” `}from ${host}`}
    </Button>
  );
}
