import { RecordbusError } from '@recordbus/client';
import { cutText } from '../ui/cut-text.ts';
import { UnreadableError } from '../ui/unreadable.ts';

/** A message may repeat the whole input. */
const longestText = 4000;

/** A summary names at most this many places. Each place shows its own message. */
const maxNamed = 5;

/** An error in the server's words. */
export interface Problem {
  readonly text: string;
  readonly status: number;
  readonly code: string;
  /** Messages by the place that they are about, such as `name` or `fields.title.options.min`. */
  readonly places: Readonly<Record<string, string>>;
  readonly requestId: string | undefined;
}

/** Returns the problem that an error describes. */
export function problemOf(error: unknown): Problem {
  // Each input shows its own reason.
  if (error instanceof UnreadableError)
    return { text: check(error.places), status: 0, code: 'unreadable', places: {}, requestId: undefined };
  if (!(error instanceof RecordbusError))
    return { text: String(error), status: 0, code: 'defect', places: {}, requestId: undefined };
  const { status, code, details, requestId } = error;
  const places = Object.fromEntries(
    Object.entries(details).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
  const text =
    code === 'network'
      ? 'The server does not answer. Your input is safe.'
      : code === 'validation_failed' && Object.keys(places).length > 0
        ? check(Object.keys(places))
        : sentence(error.message);
  return { text: cutText(text, longestText), status, code, places, requestId };
}

/**
 * Returns the position in a text, from 0, that a message points to: a character, or a quoted name. Undefined if it
 * points to none.
 */
export function positionIn(message: string | undefined, text: string): number | undefined {
  const said = (message ?? '').slice(0, 4000);
  const found = /\(character (\d{1,6})\)/.exec(said);
  if (found?.[1]) return Number(found[1]) - 1;
  const name = /"([^"]{1,200})"/.exec(said)?.[1];
  const at = name === undefined ? -1 : text.indexOf(name);
  return at < 0 ? undefined : at;
}

/** Whether a request was aborted because its result is no longer needed. */
export const isAborted = (error: unknown): boolean => error instanceof RecordbusError && error.code === 'aborted';

const check = (places: readonly string[]): string => `Check ${places.slice(0, maxNamed).map(placeName).join(', ')}.`;

/** Names a place as people do: `fields.0.name` is the name of the first field, `fields.title.options.min` the title's min. */
function placeName(place: string): string {
  const [list, one = '', ...parts] = place.split('.');
  if (list !== 'fields' || one === '') return place;
  const field = /^\d+$/.test(one) ? `field ${Number(one) + 1}` : `field ${one}`;
  const part = parts.filter((name) => name !== 'options').join(' ');
  return part === '' ? field : `${field} (${part})`;
}

const sentence = (text: string): string => {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
};
