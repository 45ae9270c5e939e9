import { literalOf, type Value } from './literal.ts';

/** A filter whose values are escaped. It goes into other filters in parentheses. */
export class Filter {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/**
 * Builds a filter from text. Values become literals, so no value is parsed as part of the filter; a list becomes
 * `("a", "b")`, a `Date` becomes its unix second, and another filter is put in parentheses.
 *
 * @example
 * f`title ~ ${word} && stars >= ${3} && kind in ${['novel', 'poem']}`
 */
export const f = (texts: TemplateStringsArray, ...values: readonly (Value | Filter | readonly Value[])[]): Filter =>
  new Filter(
    texts.reduce((whole, text, index) => {
      const value = values[index - 1];
      return `${whole}${value instanceof Filter ? `(${value.text})` : literalOf(value)}${text}`;
    }),
  );
