const [newline, quote] = [0x0a, 0x22];

/** Counts the records in an export's bytes. */
export interface RecordCounter {
  add(bytes: Uint8Array): void;
  readonly count: number;
}

/**
 * Creates the counter. A record ends with a line, in CSV outside quotation marks. CSV and JSON also have other lines.
 */
export function createRecordCounter(format: string): RecordCounter {
  let lines = 0;
  let isQuoted = false;
  const quotes = format === 'csv';
  const otherLines = format === 'csv' ? 1 : format === 'json' ? 2 : 0;
  return {
    add(bytes) {
      for (const byte of bytes) {
        if (quotes && byte === quote) isQuoted = !isQuoted;
        else if (byte === newline && !isQuoted) lines += 1;
      }
    },
    get count() {
      return Math.max(lines - otherLines, 0);
    },
  };
}
