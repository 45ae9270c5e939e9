export { altchaChallenge } from './altcha.ts';
export { type Captchas, createCaptchas } from './captchas.ts';
export { findProviderProblem } from './find-provider-problem.ts';
export { answerIn, takeAnswer } from './take-answer.ts';
