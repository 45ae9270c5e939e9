import type { Format } from './source-row.ts';

/** Writes records in one format. Call `record` for each record in turn. */
export interface FormatWriter {
  readonly start: string;
  /** Returns a record's text from its JSON. */
  record(json: string): string;
  readonly end: string;
}

/** An export's content type in each format. */
export const exportContentTypes: Readonly<Record<Format, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
  json: 'application/json; charset=utf-8',
};

/** Creates a writer with one record on each line. */
export const createNdjsonWriter = (): FormatWriter => ({
  start: '',
  record: (json) => `${onOneLine(json)}\n`,
  end: '',
});

/** Creates a writer that writes one array, with one record on each line. */
export function createJsonWriter(): FormatWriter {
  let separator = '\n';
  return {
    start: '[',
    record(json) {
      const text = `${separator}${onOneLine(json)}`;
      separator = ',\n';
      return text;
    },
    end: '\n]\n',
  };
}

/** A view may have JSON with line breaks between its parts. Within texts they are escaped. */
const onOneLine = (json: string): string =>
  json.includes('\n') || json.includes('\r') ? json.replaceAll(/[\r\n]+/g, ' ') : json;
