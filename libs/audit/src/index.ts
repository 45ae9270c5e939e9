export { type AuditedAction, recordAudit } from './record-audit.ts';
