export {
  type Answer,
  type AnswerManifest,
  cursorPageOf,
  inEnvelope,
  isDescribed,
  type JsonSchema,
  mayWarn,
  otherContent,
  pageOf,
  pagesOf,
  toJsonSchema,
  wholeBody,
  withHeaders,
} from './answers.ts';
export { bodyLimitOf, declaredBodyBytes, hasBody, isMultipart } from './body.ts';
export { type CollectedBytes, collectBytes } from './collect-bytes.ts';
export { connectionHeaders, namedByConnection } from './connection-headers.ts';
export { chooseCoding } from './content-coding.ts';
export type { ServiceDescription } from './description.ts';
export { authorize, createDispatcher, splitUrl } from './dispatch.ts';
export { endRequests } from './end-requests.ts';
export { isKnownVersion, opaqueTags, versionsOfIfMatch } from './etag.ts';
export { checkReadiness, createReadinessLog, type Readiness, withoutReasons, works } from './health.ts';
export type {
  FirstClaim,
  IdempotencyClaim,
  IdempotencyStore,
  KeepAnswer,
  KeptReply,
  RequestKey,
  RunStatement,
  UnusedKey,
} from './idempotency/store.ts';
export { createJsonBudget, findJsonExcess } from './json-shape.ts';
export { describeRoutes, descriptionPath, manifestPath, metricsPath, type RouteManifest } from './manifest.ts';
export { patternSchema } from './portable-patterns.ts';
export { parseQuery } from './query-text.ts';
export { boundedNumber, decimal, describedAs, exactText, flag, freeText, pageQuery, timeSec } from './query-values.ts';
export { created, ok, page, plainText, type Reply, rawJson, withWarnings } from './reply.ts';
export { endAheadOfBody, sendError, sendReply } from './respond.ts';
export { type Access, type Action, type Method, type Route, type RouteInput, route } from './route.ts';
export { createRouter, type Match } from './router.ts';
export { securityHeaders } from './security-headers.ts';
export { type ListeningServer, listen, listenRefusal, maxHeaderBytes } from './server.ts';
export { inServerSpan } from './server-span.ts';
export { type Span, spanOf, spanQuery } from './span-query.ts';
export { dispatchUpgrade, upgradeHead } from './upgrades.ts';
