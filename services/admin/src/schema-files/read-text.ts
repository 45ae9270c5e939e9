import { isVariable } from './schema-document.ts';

/** Variables' values, by name. */
export type Variables = Readonly<Record<string, string>>;

/** A text's value in a file. */
export interface ReadText {
  /** Undefined for a variable without a value. */
  readonly text: string | undefined;
  /** The variable that has the text. */
  readonly variable: string | undefined;
}

/** Reads a text, or a variable's value. Undefined for anything else. */
export function readText(value: unknown, variables: Variables): ReadText | undefined {
  if (typeof value === 'string') return { text: value, variable: undefined };
  if (!isVariable(value)) return undefined;
  const { $env: variable } = value;
  return { text: Object.hasOwn(variables, variable) ? variables[variable] : undefined, variable };
}

/** The problem with a missing variable. */
export const needsVariable = (variable: string): string => `needs the variable ${variable}`;
