/** For programs that shall find and keep nothing: a home that not even root can make. */
export const NO_HOME = "/dev/null/home";
