export { type FileContent, sniffedBytes } from './content.ts';
export { findUnmatched, matchesMimeTypes } from './mime-types.ts';
export { sniffContent } from './sniff-content.ts';
