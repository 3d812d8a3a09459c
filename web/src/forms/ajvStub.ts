// Stub for the form library's default validator, which is loaded only by its test tools and needs
// eval, which the CSP forbids.
export default {};
