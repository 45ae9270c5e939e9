/** A stranger's hostile text. None of it may run or change the page around it. */
export const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script> javascript:alert(3) \u202eevil\u200b';
