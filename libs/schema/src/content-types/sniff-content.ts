import { findBinaryTypes, unknownType } from './binary-types.ts';
import { type FileContent, sniffedBytes } from './content.ts';
import { decodeText } from './decode-text.ts';
import { findTextTypes, hasMarkup, isMarkup, servedTypeOf } from './text-types.ts';

/**
 * Says what a file is, and how it is served, by its first bytes (files §2.2). The name only decides which kind of text
 * or Office document it is, and the sender's type is ignored. Our own code, since the known libraries distinguish
 * neither kinds of text nor audio from video, and unpack archives to find more.
 */
export function sniffContent(bytes: Buffer, name: string): FileContent {
  const head = bytes.subarray(0, sniffedBytes);
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  const decoded = decodeText(head, head.length < sniffedBytes);
  const binary = findBinaryTypes(head, extension, decoded !== undefined);
  if (binary) return { types: binary, servedAs: binary[0], mayRun: false };
  if (!decoded) return { types: [unknownType], servedAs: unknownType, mayRun: false };
  const types = findTextTypes(decoded.text, extension);
  const type = servedTypeOf(types[0]);
  return {
    types,
    servedAs: type.startsWith('text/') ? `${type}; charset=${decoded.charset}` : type,
    mayRun: isMarkup(type) || hasMarkup(decoded.text),
  };
}
