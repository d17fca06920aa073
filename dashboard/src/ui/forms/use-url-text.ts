import { useEffect, useRef, useState } from 'react';

/** Time after the last change at which the URL follows. Browsers allow to change it only so often. */
const URL_DELAY_MS = 150;

/**
 * Keeps a text that is part of the URL. The text changes at once, and the URL follows after a pause.
 * @param urlText text in the URL; where it changes otherwise (Back), the text follows
 */
export function useUrlText(
  urlText: string,
  writeUrl: (text: string) => void,
): [string, (text: string) => void] {
  const [text, setText] = useState(urlText);
  const [seen, setSeen] = useState(urlText);
  const [written, setWritten] = useState(urlText);
  const timer = useRef<number>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  if (urlText !== seen) {
    setSeen(urlText);
    if (urlText !== written) setText(urlText);
  }
  const change = (next: string): void => {
    setText(next);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      setWritten(next);
      writeUrl(next);
    }, URL_DELAY_MS);
  };
  return [text, change];
}
