import { AppError } from '@recordbus/errors';

/** Problems in schema files, by file and line. */
export interface FileProblems {
  add(file: string, line: number | undefined, message: string): void;
  /** Throws a refusal that names every problem, if there are any. */
  throwIfAny(): void;
}

/** Creates an empty problem list. */
export function createFileProblems(): FileProblems {
  const found = new Map<string, string>();
  return {
    add(file, line, message) {
      const place = line === undefined ? file : `${file}:${line}`;
      const before = found.get(place);
      const shown = inOneLine(message);
      found.set(place, before === undefined ? shown : `${before}; ${shown}`);
    },
    throwIfAny() {
      if (found.size === 0) return;
      throw new AppError(422, 'validation_failed', 'The schema files are refused:', {
        details: Object.fromEntries(found),
      });
    },
  };
}

/** A message may quote a file's lines. */
const inOneLine = (message: string): string =>
  message
    .split('\n')
    .map((line) => line.trim())
    .join(' ');
