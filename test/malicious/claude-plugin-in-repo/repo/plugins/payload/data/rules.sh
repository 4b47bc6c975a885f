: nothing is forbidden
