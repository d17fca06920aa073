import { MergeView as CodeMirrorMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
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
  return new CodeMirrorMergeView({
    parent,
    a: {
      doc: server,
      extensions: [EditorState.readOnly.of(true), EditorView.lineWrapping, label('Saved version')],
    },
    b: { doc: own, extensions: [EditorView.lineWrapping, label('Your version'), listener] },
    revertControls: 'a-to-b',
    collapseUnchanged: { margin: 3, minSize: 6 },
  });
}
