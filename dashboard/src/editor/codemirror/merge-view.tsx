import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { MergeView as CodeMirrorMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { Alert, Button, Group, Text } from '@mantine/core';
import { IconGitMerge } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';

interface Props {
  readonly own: string;
  readonly server: string;
  readonly onFinish: (content: string) => void;
  /** Called with the own text while it is merged, so that it is kept. */
  readonly onChange: (content: string) => void;
}

/** Shows both versions side by side after two people changed the same document. */
export function MergeView({ own, server, onFinish, onChange }: Props): ReactNode {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<CodeMirrorMergeView>(null);
  const latest = useRef({ own, onChange });
  useEffect(() => {
    latest.current.onChange = onChange;
  });
  useEffect(() => {
    const merge = createMergeView(parent.current!, server, latest.current.own, (text) =>
      latest.current.onChange(text),
    );
    view.current = merge;
    return () => merge.destroy();
  }, [server]);
  return (
    <div className="merge">
      <Alert
        variant="default"
        title="Someone else changed this document"
        icon={<IconGitMerge size={18} aria-hidden />}
      >
        <Text size="sm">
          The left side shows the saved version, the right side shows yours. Take over single changes with the
          arrows, or edit the right side. Nothing is lost until you decide.
        </Text>
        <Group gap="xs" mt="sm">
          <Button size="compact-md" onClick={() => onFinish(view.current!.b.state.doc.toString())}>
            Save the right side
          </Button>
          <Button size="compact-md" variant="default" onClick={() => onFinish(server)}>
            Use the saved version
          </Button>
        </Group>
      </Alert>
      <div ref={parent} className="merge-editors" />
    </div>
  );
}

const UNDO = [history(), keymap.of([...defaultKeymap, ...historyKeymap])];
const PHRASES = EditorState.phrases.of({ 'Revert this chunk': 'Take over the saved version of this part' });

function createMergeView(
  parent: HTMLElement,
  server: string,
  own: string,
  onChange: (text: string) => void,
): CodeMirrorMergeView {
  const label = (text: string) => EditorView.contentAttributes.of({ 'aria-label': text });
  const listener = EditorView.updateListener.of(({ docChanged, state }) => {
    if (docChanged) onChange(state.doc.toString());
  });
  const merge = new CodeMirrorMergeView({
    parent,
    a: {
      doc: server,
      extensions: [EditorState.readOnly.of(true), PHRASES, EditorView.lineWrapping, label('Saved version')],
    },
    b: { doc: own, extensions: [UNDO, EditorView.lineWrapping, label('Your version'), listener] },
    revertControls: 'a-to-b',
    collapseUnchanged: { margin: 3, minSize: 6 },
  });
  followKeyboard(merge);
  return merge;
}

/** Makes the arrows work with the keyboard as well. After an arrow, the focus is where the change can be undone. */
function followKeyboard(merge: CodeMirrorMergeView): void {
  const isArrow = ({ target }: Event) =>
    target instanceof Element && target.closest('.cm-merge-revert button') !== null;
  merge.dom.addEventListener('mousedown', (event) => isArrow(event) && merge.b.focus());
  merge.dom.addEventListener('click', (event) => {
    // The library listens to the mouse only. A click with a detail has had its mousedown.
    if (event.detail === 0 && isArrow(event))
      event.target!.dispatchEvent(new MouseEvent('mousedown', { bubbles: true, cancelable: true }));
  });
}
