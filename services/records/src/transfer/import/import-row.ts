import { AppError } from '@recordbus/errors';
import type { QuerySchema } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import type { OperationRules } from '../../batch/run-operation.ts';
import type { Call } from '../../rules/rule-context.ts';
import type { ImportOptions } from './import-options.ts';

export type Body = Readonly<Record<string, unknown>>;

/** A row whose record will be written. */
export interface ImportRow {
  readonly row: number;
  readonly body: Body;
  /** How many bytes its text has. */
  readonly bytes: number;
  /** Set if an earlier pass wrote the record without these fields. */
  readonly lacking?: { readonly recordId: string; readonly fields: readonly string[] };
}

type Messages = Readonly<Record<string, string>>;

/** A row's outcome. */
export type Outcome =
  | { readonly state: 'done' }
  | { readonly state: 'skipped' }
  | { readonly state: 'refused'; readonly details: Messages }
  /** Its targets come later: it is not written yet, or without the fields in `details`. */
  | { readonly state: 'waiting'; readonly recordId: string; readonly details: Messages }
  | { readonly state: 'incomplete'; readonly recordId: string; readonly details: Messages };

/** Rows' outcomes, by row number. */
export type Outcomes = Map<number, Outcome>;

/** The context that a chunk's rows share. */
export interface ImportContext {
  readonly jobId: string;
  readonly pass: number;
  readonly collection: Collection;
  readonly options: ImportOptions;
  readonly call: Call;
  readonly rules: OperationRules & { readonly schema: QuerySchema };
}

/** The message for a reference to a missing record, as in a single write. */
export const noTarget = 'refers to no record';

/** The message if the record was written before its target turned out to be missing. */
export const noTargetAfterAll = `${noTarget}, so the record has no value`;

/** The details' member that is about the whole row. */
export const wholeRow = '_row';

export const refused = (details: Messages): Outcome => ({ state: 'refused', details });

/** The outcome for a row whose write threw. Rethrows errors that are not refusals of this row. */
export function refusalOf(error: unknown): Outcome {
  if (!(error instanceof AppError) || error.status === 503) throw error;
  const details = Object.entries(error.details ?? {}).map(([name, message]): [string, string] => [
    name,
    String(message),
  ]);
  return refused(details.length > 0 ? Object.fromEntries(details) : { [wholeRow]: error.message });
}
