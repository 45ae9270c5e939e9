export { composeDocument, type OpenApiDocument } from './document.ts';
export { canonicalPath, tagOf } from './names.ts';
export { tagDescriptions } from './tags.ts';
