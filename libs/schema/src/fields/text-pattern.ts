import { boundedText } from '@recordbus/text/bounded-text';
import { RE2JS } from 're2js';
import { isStorable } from './storable.ts';

const maxPatternLength = 1000;

/** Instructions in a compiled pattern; `^[a-z]{1,255}$` has 513. */
const maxInstructions = 1000;

/**
 * A match takes at most time linear in the pattern's instructions times the text's characters: 90 ns for each, measured
 * on patterns that keep all instructions busy. So a match takes less than 30 ms, and less than 50 ms (cost §4.2) on a
 * machine that takes 150 ns.
 */
const maxSteps = 300_000;

/** The steps that all fields in one body may cost together: half a second, with pauses between the fields. */
export const maxBodySteps = 10 * maxSteps;

/** A pattern to search for in texts. RE2 semantics: no back-references and no look-around. */
export interface TextPattern {
  /** Texts with more UTF-16 code units are refused without a search. */
  readonly maxTextLength: number;
  /** Returns the steps that searching the text costs; 0 for a text that is refused without a search. */
  stepsFor(text: string): number;
  /** Whether the pattern is in a text that is not too long. */
  isIn(text: string): boolean;
}

/** The schema for a field's `pattern`. */
export const patternOption = boundedText(maxPatternLength)
  .refine(isStorable, { error: 'must not contain NUL or half a surrogate pair', abort: true })
  .refine((source) => compile(source) !== undefined, {
    error: 'is not a regular expression that runs in linear time',
    abort: true,
  })
  .refine((source) => (compile(source)?.programSize() ?? 0) <= maxInstructions, 'is too large a pattern');

/** Compiles the pattern from a definition that was checked. */
export function compileTextPattern(source: string): TextPattern {
  const expression = compile(source);
  const size = Math.max(expression?.programSize() ?? 1, 1);
  const maxTextLength = Math.floor(maxSteps / size);
  return {
    maxTextLength,
    stepsFor: ({ length }) => (length > maxTextLength ? 0 : length * size),
    isIn: (text) => expression?.test(text) ?? false,
  };
}

function compile(source: string): RE2JS | undefined {
  try {
    return RE2JS.compile(source);
  } catch {
    return undefined;
  }
}
