export { breachServiceUrl } from './breach-service-url.ts';
export { createPasswordRules, type PasswordRules } from './password-rules.ts';
