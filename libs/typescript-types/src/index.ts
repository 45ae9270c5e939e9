export { typesDocument } from './types-document.ts';
