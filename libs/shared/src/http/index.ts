export {
  type Answer,
  type AnswerManifest,
  inEnvelope,
  inPage,
  isDescribed,
  type JsonSchema,
  otherContent,
  pageOf,
  toJsonSchema,
  wholeBody,
  withHeaders,
} from './answers.ts';
export { bodyLimitOf, declaredBodyBytes, hasBody, isMultipart } from './body.ts';
export { connectionHeaders, namedByConnection } from './connection-headers.ts';
export type { Description } from './description.ts';
export { authorise, createDispatcher, splitUrl } from './dispatch.ts';
export { isKnownVersion } from './etag.ts';
export { checkReadiness, type Readiness } from './health.ts';
export type { Claim, FirstClaim, IdempotencyStore, KeepAnswer, KeptReply, RunStatement } from './idempotency-store.ts';
export { describeRoutes, descriptionPath, manifestPath, metricsPath, type RouteManifest } from './manifest.ts';
export { boundedNumber, decimal, exactText, flag, freeText, pageQuery, standsFor, timeSec } from './query-values.ts';
export { created, ok, page, plainText, type Reply, rawJson } from './reply.ts';
export { endAheadOfBody, sendError, sendReply } from './respond.ts';
export { type Access, type Action, type Method, type Route, type RouteInput, route } from './route.ts';
export { createRouter, type Match } from './router.ts';
export { securityHeaders } from './security-headers.ts';
export { type ListeningServer, listen, maxHeaderBytes } from './server.ts';
