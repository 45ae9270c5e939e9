export { composeDocument, type OpenApiDocument, type OpenApiVersion, openApiVersions } from './document.ts';
export { canonicalPath, tagOf } from './names.ts';
export { olderDocument } from './older-version.ts';
export { tagDescriptions } from './tags.ts';
