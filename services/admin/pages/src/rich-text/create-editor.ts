import { baseKeymap, chainCommands, exitCode } from 'prosemirror-commands';
import { history } from 'prosemirror-history';
import { inputRules, textblockTypeInputRule, wrappingInputRule } from 'prosemirror-inputrules';
import { keymap } from 'prosemirror-keymap';
import type { Node } from 'prosemirror-model';
import { liftListItem, sinkListItem, splitListItem } from 'prosemirror-schema-list';
import { type Command, EditorState } from 'prosemirror-state';
import { tableEditing } from 'prosemirror-tables';
import { EditorView } from 'prosemirror-view';
import { cleanHtml } from './html.ts';
import { schema } from './schema.ts';
import { keyedTools } from './tools.ts';

const { nodes } = schema;

interface EditorOptions {
  readonly parent: Element;
  readonly doc: Node;
  readonly attributes: Readonly<Record<string, string>>;
  readonly isReadOnly: boolean;
  /** Called after each change of the document or the selection. */
  readonly onState: (state: EditorState, hasChanged: boolean) => void;
  /** Moves the focus to the tools. */
  readonly onTools: () => void;
}

/** A rich text editor. */
export interface RichEditor {
  run(command: Command): void;
  focus(): void;
  setAttributes(attributes: Readonly<Record<string, string>>): void;
  destroy(): void;
}

const breakLine: Command = (state, dispatch) => {
  dispatch?.(state.tr.replaceSelectionWith(nodes.hard_break.create()).scrollIntoView());
  return true;
};

/** Tab stays the way out of the editor, so brackets change a list's level. */
const keys: Record<string, Command> = {
  ...Object.fromEntries(keyedTools.map(({ keys = '', run }) => [keys, run])),
  'Mod-y': keyedTools.find(({ label }) => label === 'Redo')?.run ?? exitCode,
  Enter: splitListItem(nodes.list_item),
  'Mod-]': sinkListItem(nodes.list_item),
  'Mod-[': liftListItem(nodes.list_item),
  'Shift-Enter': chainCommands(exitCode, breakLine),
};

/** What Markdown writes at a line's start. */
const rules = inputRules({
  rules: [
    textblockTypeInputRule(/^(#{1,4})\s$/, nodes.heading, ([, marks]) => ({ level: marks?.length })),
    textblockTypeInputRule(/^```$/, nodes.code_block),
    wrappingInputRule(/^\s*>\s$/, nodes.blockquote),
    wrappingInputRule(/^\s*[-+*]\s$/, nodes.bullet_list),
    wrappingInputRule(/^1\.\s$/, nodes.ordered_list),
  ],
});

/** An image of another site would break the page's policy, so only its text is shown. */
function imageView({ attrs }: Node): { dom: HTMLElement } {
  const { src, alt } = attrs as { src: string; alt: string | null };
  if (/^data:/i.test(src) || new URL(src, location.href).origin === location.origin) {
    const image = document.createElement('img');
    [image.src, image.alt] = [src, alt ?? ''];
    return { dom: image };
  }
  const place = document.createElement('span');
  place.className = 'image';
  place.title = src;
  place.textContent = `Image: ${alt || src.slice(0, 80)}`;
  return { dom: place };
}

/** Creates an editor in an element. */
export function createEditor({ parent, doc, attributes, isReadOnly, onState, onTools }: EditorOptions): RichEditor {
  const toTools: Command = () => {
    onTools();
    return true;
  };
  const plugins = [
    history(),
    rules,
    keymap({ ...keys, 'Alt-F10': toTools }),
    keymap(baseKeymap),
    tableEditing({ allowTableNodeSelection: true }),
  ];
  const view = new EditorView(parent, {
    state: EditorState.create({ doc, plugins }),
    attributes,
    editable: () => !isReadOnly,
    nodeViews: { image: imageView },
    transformPastedHTML: cleanHtml,
    // Otherwise the browser inserts a pasted file's address, which ends with the page.
    handlePaste: (_view, event) =>
      (event.clipboardData?.files.length ?? 0) > 0 && !event.clipboardData?.getData('text/html'),
    dispatchTransaction(transaction) {
      view.updateState(view.state.apply(transaction));
      onState(view.state, transaction.docChanged);
    },
  });
  onState(view.state, false);
  return {
    run(command) {
      command(view.state, view.dispatch, view);
      view.focus();
    },
    focus: () => view.focus(),
    setAttributes: (next) => view.setProps({ attributes: next }),
    destroy: () => view.destroy(),
  };
}
