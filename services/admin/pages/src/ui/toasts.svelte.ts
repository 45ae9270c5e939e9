import { cutText } from './cut-text.ts';

/** A sentence that appears for a while, with what can be done about it. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'problem';
  readonly undo: (() => void) | undefined;
}

/** What can be taken back, and what went wrong, stays longer. */
const shownMs = 6000;
const quickMs = 3500;

class Toasts {
  list = $state.raw<readonly Toast[]>([]);
  /** Called when a dialog has opened, which covers all that was there before. */
  onCovered: () => void = () => {};
  #last = 0;

  /** Says that something is done; with `undo`, for as long as it is shown it can be taken back. */
  done(text: string, undo?: () => void): void {
    this.#add(text, 'done', undo);
  }

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
    setTimeout(() => this.close(id), undo || kind === 'problem' ? shownMs : quickMs);
  }
}

export const toasts = new Toasts();
