export { altchaChallenge } from './altcha.ts';
export { type Captchas, createCaptchas } from './captchas.ts';
export { answerIn, takeAnswer } from './take-answer.ts';
