export { boundaryOf, createFormParser, type FormParser, type PartHandler } from './form-parser.ts';
export { readParameters } from './header-parameters.ts';
export { type PartHead, readPartText } from './part-head.ts';
