import { type AST, parseRegExpLiteral, visitRegExpAST } from '@eslint-community/regexpp';
import { leadText, sampleText } from './sample-text.ts';

/** A text that may make a pattern slow: a repeated word between a beginning and an end. */
export interface Attack {
  readonly lead: string;
  readonly word: string;
  readonly tail: string;
}

/** A quantifier with a lower maximum costs constant time. */
const manyTimes = 1000;

/** Ends that few patterns match. */
const tails = ['', '\0', '\n!'];

/**
 * Builds the attacks on a pattern: for each quantifier, the words that it repeats, alone and after the text before it,
 * since a search starts again at each place with that text.
 */
export function attacksOn(source: string, flags: string): readonly Attack[] {
  const attacks = new Map<string, Attack>();
  const add = (lead: string, word: string): void => {
    if (word === '') return;
    for (const tail of tails) attacks.set(JSON.stringify([lead, word, tail]), { lead, word, tail });
  };
  visitRegExpAST(parseRegExpLiteral(`/${source}/${flags}`), {
    onQuantifierEnter(quantifier) {
      if (quantifier.max < manyTimes) return;
      const lead = leadText(quantifier, flags);
      for (const word of repeatedWords(quantifier.element, flags)) {
        add(lead, word);
        add('', lead + word);
        add(lead, lead + word);
      }
      add('', lead);
    },
  });
  return [...attacks.values()];
}

/** Returns one word for each alternative in the repeated element, and all of them joined. */
function repeatedWords(element: AST.QuantifiableElement, flags: string): readonly string[] {
  if (element.type !== 'Group' && element.type !== 'CapturingGroup') return [sampleText(element, flags)];
  const words = element.alternatives.map((alternative) => sampleText(alternative, flags));
  return [...words, words.join('')];
}

/** Builds an attack's text with this many repetitions. */
export const textOf = ({ lead, word, tail }: Attack, repetitions: number): string =>
  lead + word.repeat(repetitions) + tail;

/** Returns an attack as code that builds its text. */
export const codeOf = ({ lead, word, tail }: Attack, repetitions: number): string =>
  `${lead && `${JSON.stringify(lead)} + `}${JSON.stringify(word)}.repeat(${repetitions})${tail && ` + ${JSON.stringify(tail)}`}`;
