# What src/api/version.cpp tells: the commit is that of the last configuration, which every commit calls for.
set(commit unknown)
if(EXISTS ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/.git/logs/HEAD)
  execute_process(COMMAND git rev-parse --short=10 HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE told OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(commit ${told})
  endif()
endif()
set_source_files_properties(src/api/version.cpp PROPERTIES COMPILE_DEFINITIONS
  "MDPCOSIM_VERSION=\"${PROJECT_VERSION}\";MDPCOSIM_COMMIT=\"${commit}\";MDPCOSIM_SUNDIALS=\"${SUNDIALS_VERSION}\";MDPCOSIM_COMPILER=\"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\"")
