import type { Move } from '@recordbus/client';

/** Whether a move works, so that its page has to ask again. */
export const isBusy = ({ state }: Move): boolean =>
  state === 'uploading' || state === 'planning' || state === 'running';

/** Whether a move is over. */
export const isOver = ({ finished }: Move): boolean => finished !== null;

/** The completed part; undefined if it is not known. */
export const partOf = ({ progress }: Move): number | undefined => progress?.part ?? undefined;

/** Reads new names, one `old = new` in each line. Returns the first line of another form. */
export function readNames(text: string): { readonly names: Readonly<Record<string, string>>; readonly wrong?: string } {
  const names: Record<string, string> = {};
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const [, before, after] = /^\s*(\w+)\s*=\s*(\w+)\s*$/.exec(line) ?? [];
    if (before === undefined || after === undefined) return { names, wrong: line };
    names[before] = after;
  }
  return { names };
}
