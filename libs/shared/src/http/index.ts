export { createDispatcher, describeIssues, splitUrl } from './dispatch.ts';
export { checkReadiness, type Readiness } from './health.ts';
export { describeRoutes, manifestPath, type RouteManifest } from './manifest.ts';
export { created, ok, page, type Reply, rawJson } from './reply.ts';
export { sendError, sendReply } from './respond.ts';
export { type Access, type Action, type Method, type Route, type RouteInput, route } from './route.ts';
export { createRouter, type Match } from './router.ts';
export { type ListeningServer, listen } from './server.ts';
export { createServiceApp } from './service-app.ts';
