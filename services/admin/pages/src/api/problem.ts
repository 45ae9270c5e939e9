import { RecordbusError } from '@recordbus/client';

/** What went wrong, in the words of the server. */
export interface Problem {
  readonly text: string;
  readonly status: number;
  readonly code: string;
  /** Sentences by the places that they are about, such as `name` or `fields.title.options.min`. */
  readonly places: Readonly<Record<string, string>>;
  readonly requestId: string | undefined;
}

/** Returns what an error says. */
export function problemOf(error: unknown): Problem {
  if (!(error instanceof RecordbusError))
    return { text: String(error), status: 0, code: 'defect', places: {}, requestId: undefined };
  const { status, code, details, requestId } = error;
  const places = Object.fromEntries(
    Object.entries(details).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
  const text =
    code === 'network' ? 'The server does not answer. Nothing that you typed is lost.' : sentence(error.message);
  return { text, status, code, places, requestId };
}

/** The position that a message of a rule or a filter names, counted from 0; undefined if it names none. */
export function positionIn(message: string | undefined): number | undefined {
  const found = /\(character (\d{1,6})\)/.exec((message ?? '').slice(-400));
  return found?.[1] ? Number(found[1]) - 1 : undefined;
}

/** Whether a request was given up because nobody waits for it any more. */
export const isAborted = (error: unknown): boolean => error instanceof RecordbusError && error.code === 'aborted';

const sentence = (text: string): string => {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
};
