import { autocompletion, type CompletionContext, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { Compartment, EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, keymap, placeholder } from '@codemirror/view';

/** An editor's content and callbacks. */
export interface EditorOptions {
  readonly parent: Element;
  readonly text: string;
  readonly hint: string;
  /** The completions to offer while typing. */
  readonly completions: () => readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  readonly onChange: (text: string) => void;
  /** Called on Enter if no completion is open, instead of adding a line. */
  readonly onEnter?: (() => void) | undefined;
}

/** An editor for a rule, a filter, a query or JSON. */
export interface CodeEditor {
  setText(text: string): void;
  /** Marks an error's position. Undefined clears the mark. */
  mark(position: number | undefined): void;
  setAttributes(attributes: Readonly<Record<string, string>>): void;
  /** Takes the focus, with the caret at a position. */
  focus(at: number): void;
  destroy(): void;
}

const setMark = StateEffect.define<number | undefined>();
const wrong = Decoration.mark({ class: 'cm-wrong' });

const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    const effect = transaction.effects.find((one) => one.is(setMark));
    // Typing over marked text makes the browser keep its colour in an inline style, which the policy forbids.
    const isSelected = transaction.selection?.main.empty === false;
    if (!effect) return transaction.docChanged || isSelected ? Decoration.none : shown;
    const { length } = transaction.state.doc;
    if (effect.value === undefined || length === 0) return Decoration.none;
    const from = Math.min(effect.value, length - 1);
    return Decoration.set([wrong.range(from, from + 1)]);
  },
  provide: (field) => EditorView.decorations.from(field),
});

const look = EditorView.theme({
  '&': { fontSize: '12px', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': { fontFamily: 'var(--mono)', padding: '6px 0', caretColor: 'var(--text-primary)', minHeight: '20px' },
  '.cm-line': { padding: '0 10px' },
  '.cm-cursor': { borderLeftColor: 'var(--text-primary)' },
  '.cm-placeholder': { color: 'var(--text-secondary)' },
  '.cm-wrong': {
    backgroundColor: 'color-mix(in srgb, var(--danger) 35%, transparent)',
    borderBottom: '2px solid var(--danger)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--bg-panel)',
    border: '1px solid var(--border-strong)',
    borderRadius: '6px',
    boxShadow: 'var(--shadow-lg)',
  },
  '.cm-tooltip-autocomplete > ul > li': { padding: '2px 10px', fontFamily: 'var(--mono)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent-solid)', color: '#fff' },
});

/** Creates an editor in an element. */
export function createCodeEditor(options: EditorOptions): CodeEditor {
  const { parent, text, hint, completions, attributes, onChange, onEnter } = options;
  const enter = () => {
    onEnter?.();
    return onEnter !== undefined;
  };
  const attributesOf = new Compartment();
  const complete = (context: CompletionContext) => {
    const word = context.matchBefore(/[@\w.]{1,200}$/);
    if (!word && !context.explicit) return null;
    return {
      from: word?.from ?? context.pos,
      options: completions().map((label) => ({ label })),
      validFor: /^[@\w.]*$/,
    };
  };
  // In a document, CodeMirror's styles would be inline. In a shadow tree they are adopted, which the policy allows.
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' });
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        history(),
        closeBrackets(),
        autocompletion({ override: [complete], icons: false }),
        keymap.of([...completionKeymap, { key: 'Enter', run: enter }, ...defaultKeymap, ...historyKeymap]),
        EditorView.lineWrapping,
        placeholder(hint),
        marks,
        look,
        attributesOf.of(EditorView.contentAttributes.of(attributes)),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText(next) {
      if (next !== view.state.doc.toString())
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
    },
    mark: (position) => view.dispatch({ effects: setMark.of(position) }),
    setAttributes: (next) =>
      view.dispatch({ effects: attributesOf.reconfigure(EditorView.contentAttributes.of(next)) }),
    focus(at) {
      view.dispatch({ selection: { anchor: Math.min(at, view.state.doc.length) } });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}
