import { cutText } from './cut-text.ts';

/** A message that disappears by itself, with an optional undo. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'problem';
  readonly undo: (() => void) | undefined;
}

/** Errors and messages with an undo stay longer. */
const shownMs = 6000;
const quickMs = 3500;
/** How long a slow reader needs for a character. */
const readMs = 60;

class Toasts {
  list = $state.raw<readonly Toast[]>([]);
  /** Called when a dialog has opened, which covers the toasts. */
  onCovered: () => void = () => {};
  #last = 0;

  /** Shows a success message. With `undo`, it has an Undo button. */
  done(text: string, undo?: () => void): void {
    this.#add(text, 'done', undo);
  }

  /** Shows an error message. */
  problem(text: string): void {
    this.#add(text, 'problem', undefined);
  }

  close(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  #add(text: string, kind: Toast['kind'], undo: (() => void) | undefined): void {
    this.#last += 1;
    const id = this.#last;
    this.list = [...this.list.slice(-3), { id, text: cutText(text), kind, undo }];
    const leastMs = undo || kind === 'problem' ? shownMs : quickMs;
    setTimeout(() => this.close(id), Math.max(leastMs, cutText(text).length * readMs));
  }
}

export const toasts = new Toasts();
