import { isVariable } from './schema-document.ts';

/** Values of variables, by their names. */
export type Variables = Readonly<Record<string, string>>;

/** The value of a text in a file. */
export interface ReadText {
  /** Undefined for a variable whose value is not given. */
  readonly text: string | undefined;
  /** The variable that has it. */
  readonly variable: string | undefined;
}

/** Reads a text, or the value of the variable that has it. Undefined for anything else. */
export function readText(value: unknown, variables: Variables): ReadText | undefined {
  if (typeof value === 'string') return { text: value, variable: undefined };
  if (!isVariable(value)) return undefined;
  const { $env: variable } = value;
  return { text: Object.hasOwn(variables, variable) ? variables[variable] : undefined, variable };
}

/** The sentence about a variable whose value is needed. */
export const needsVariable = (variable: string): string => `needs the variable ${variable}`;
