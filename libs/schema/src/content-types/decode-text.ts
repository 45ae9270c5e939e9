/** A text and its encoding. */
export interface DecodedText {
  readonly text: string;
  readonly charset: 'utf-8' | 'windows-1252';
}

/**
 * Decodes a text; undefined for binary content. A longer file's head may end within a character. A text that is not
 * UTF-8 is in Windows-1252, as spreadsheets write it, if few letters are outside ASCII.
 */
export function decodeText(head: Buffer, isWhole: boolean): DecodedText | undefined {
  const mark = head.toString('hex', 0, 2);
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8';
  const text = decode(head, encoding, isWhole);
  if (text !== undefined) return isReadable(text) ? { text, charset: 'utf-8' } : undefined;
  if (encoding !== 'utf-8') return undefined;
  const latin = decode(head, 'windows-1252', isWhole) ?? '';
  const others = latin.match(/[\u0080-\uffff]/g)?.length ?? 0;
  if (others > latin.length * maxOtherShare || !isReadable(latin) || /[\x80-\x9f]/.test(latin)) return undefined;
  return { text: latin, charset: 'windows-1252' };
}

/** The largest share of letters outside ASCII. In binary content, half the bytes are. */
const maxOtherShare = 0.3;

function decode(head: Buffer, encoding: string, isWhole: boolean): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(head, { stream: !isWhole });
  } catch {
    return undefined;
  }
}

/** Whether a text lacks the control characters that mark binary files. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters mark binary files
const isReadable = (text: string): boolean => !/[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text);
