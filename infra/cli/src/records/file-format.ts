import { CommandFailure } from '@recordbus/stack-calls';

export const contentTypes: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
};

const formatsByEnding: Readonly<Record<string, string>> = {
  csv: 'csv',
  tsv: 'csv',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  json: 'json',
};

interface FileFormat {
  readonly format: string;
  readonly isCompressed: boolean;
}

/** Returns the given format, or the one in the file name. Throws CommandFailure for a name without one. */
export function fileFormatOf(file: string, given: string | undefined): FileFormat {
  const isCompressed = /\.gz$/i.test(file);
  const ending = endingOf(withoutGz(file)).toLowerCase();
  const format = given ?? formatsByEnding[ending];
  if (format === undefined) throw new CommandFailure(`The name ${file} has no format: name one with --format.`);
  return { format, isCompressed };
}

/** The file name for refused rows, next to the imported file. */
export function refusedFileOf(file: string, format: string): string {
  const name = withoutGz(file);
  const ending = endingOf(name);
  return `${ending === '' ? name : name.slice(0, -ending.length - 1)}.refused.${format}`;
}

const withoutGz = (file: string): string => file.replace(/\.gz$/i, '');

const endingOf = (name: string): string => /\.([^./\\]*)$/.exec(name)?.[1] ?? '';
