import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import type { ReactNode, RefObject } from 'react';
import { createEditorState } from './editor-state';
import type { EditorOptions } from './editor-state';

interface Props extends EditorOptions {
  /** Text to start with. */
  readonly initial: () => string;
  /** Receives the view, for jumping to a heading. */
  readonly viewRef: RefObject<EditorView | null>;
}

/** CodeMirror with markdown. The editor keeps the text; React only learns of changes. */
export function CodeEditor({ initial, viewRef, ...options }: Props): ReactNode {
  const parent = useRef<HTMLDivElement>(null);
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  useEffect(() => {
    const { isReadOnly } = latest.current;
    const state = createEditorState(initial(), {
      isReadOnly,
      onChange: (text) => latest.current.onChange(text),
      documents: () => latest.current.documents(),
      onOpenLink: (target) => latest.current.onOpenLink(target),
    });
    const view = new EditorView({ state, parent: parent.current! });
    viewRef.current = view;
    return () => {
      viewRef.current = null;
      view.destroy();
    };
    // The text belongs to the editor after the first time.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  return <div ref={parent} className="code-editor" />;
}
