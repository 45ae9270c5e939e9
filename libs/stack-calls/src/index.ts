export { callApi } from './call-api.ts';
export { CommandFailure, isSystemError } from './failure.ts';
export { commandJob, followJob, type ImportJob, isEnded, readJob } from './follow-job.ts';
export { noProgress, type Progress } from './progress.ts';
export { type ApiAddress, parseObject, reasonOf, sendRequest } from './send-request.ts';
export { isBusy, whenFree } from './when-free.ts';
