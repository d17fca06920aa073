/** The session is missing, or has expired. */
export const UNAUTHORIZED = 401;
/** The role of the person does not permit the request. */
export const FORBIDDEN = 403;
/** The object does not exist, or the person may not know that it does. */
export const NOT_FOUND = 404;
/** The service has another version of the object than the request is based on. */
export const PRECONDITION_FAILED = 412;
/** First of the statuses that blame the service. */
export const SERVER_ERROR = 500;
