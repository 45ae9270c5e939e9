import type { AST } from '@eslint-community/regexpp';

/** Characters that represent a class if it has them, chosen to be readable. */
const wellKnown = 'a0 -._/@:<"\n';
const candidates = [...wellKnown, ...Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code))];

/** Returns a short text that a pattern part matches, ignoring assertions. */
export function sampleText(node: AST.Element | AST.Alternative, flags: string): string {
  switch (node.type) {
    case 'Alternative':
      return node.elements.map((element) => sampleText(element, flags)).join('');
    case 'Group':
    case 'CapturingGroup':
      return node.alternatives[0] ? sampleText(node.alternatives[0], flags) : '';
    case 'Quantifier':
      return sampleText(node.element, flags).repeat(node.min);
    case 'Character':
      return String.fromCodePoint(node.value);
    case 'CharacterSet':
    case 'CharacterClass':
    case 'ExpressionCharacterClass':
      return characterOf(node.raw, flags);
    default:
      return '';
  }
}

/** Returns the text before a pattern part, in a match that reaches it. */
export function leadText(node: AST.Node, flags: string): string {
  const { parent } = node;
  if (!parent) return '';
  if (parent.type !== 'Alternative') return leadText(parent, flags);
  const before = parent.elements.slice(0, parent.elements.indexOf(node as AST.Element));
  return leadText(parent, flags) + before.map((element) => sampleText(element, flags)).join('');
}

function characterOf(set: string, flags: string): string {
  const isInSet = new RegExp(`^(?:${set})$`, flags.replace(/[gy]/g, ''));
  return candidates.find((character) => isInSet.test(character)) ?? '';
}
